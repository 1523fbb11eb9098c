#!/usr/bin/env node
'use strict'
// Runs the program of the platform's package.
const { spawnSync } = require('node:child_process')
const { fileOf } = require('./platform.js')

let program
try {
  program = fileOf(process.platform === 'win32' ? 'foldline.exe' : 'foldline')
} catch (error) {
  console.error(error.message)
  process.exit(2)
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' })
if (error) throw error
if (signal) process.kill(process.pid, signal)
process.exit(status)
