import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const options = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
  const { code } = await transformFile(fileURLToPath(url), options);
  return { format: 'module', source: code, shortCircuit: true };
}
