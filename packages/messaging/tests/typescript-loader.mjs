// Lets a child process run the sources: node --import <this file> --conditions countersign <file.ts>
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { transform } from '@swc/core';

if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const source = await readFile(new URL(url), 'utf8');
  const options = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
  const { code } = await transform(source, options);
  return { format: 'module', source: code, shortCircuit: true };
}
