#!/usr/bin/env node
import { processEnvironment } from './config.ts';
import { runCountersign } from './countersign.ts';

const controller = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
process.exitCode = await runCountersign(process.argv.slice(2), {
  write: (text) => void process.stdout.write(text),
  tell: (text) => void process.stderr.write(text),
  env: processEnvironment,
  stdin: process.stdin,
  signal: controller.signal,
});
