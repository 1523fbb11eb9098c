'use strict'
// Which package holds the native module and the program for this machine.

/** The name of the platform's package. */
function packageName () {
  const { platform, arch } = process
  if (platform !== 'linux') return `@foldline/${platform}-${arch}`
  // Only a C library of GNU says its version here.
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'
  return `@foldline/${platform}-${arch}-${libc}`
}

/** The path of a file in it. */
function fileOf (file) {
  const name = packageName()
  try {
    return require.resolve(`${name}/${file}`)
  } catch (error) {
    throw new Error(
      `foldline: the package ${name} with ${file} is not installed; there may be no build for this platform, or the ` +
      'installation left out optional dependencies (npm install --include=optional)',
      { cause: error }
    )
  }
}

exports.packageName = packageName
exports.fileOf = fileOf
