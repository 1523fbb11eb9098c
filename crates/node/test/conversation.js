'use strict'
// A conversation that grows: what the tests work with.

exports.TASK = 'Find out why the import of orders is slow. Never touch the archive.'
exports.HANDLE = /fl-[0-9a-f]{12}/

exports.log = part =>
  Array.from({ length: 60 }, (_, row) => `part ${part} row ${row}: wrote order ${part * 60 + row} in ${row % 7} ms\n`).join('')

/** Messages of Chat Completions. */
exports.chat = calls => {
  const messages = [{ role: 'system', content: 'You look for slow imports.' }, { role: 'user', content: exports.TASK }]
  for (let part = 0; part < calls; part++) {
    const call = { id: `call_${part}`, type: 'function', function: { name: 'read_log', arguments: JSON.stringify({ part }) } }
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
    messages.push({ role: 'tool', tool_call_id: call.id, content: exports.log(part) })
  }
  return messages
}
