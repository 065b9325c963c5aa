#!/usr/bin/env node
/// <reference types="node" />
import { runCli } from './run-cli.ts';

const write = (text: string) => process.stdout.write(text);
process.exitCode = await runCli(process.argv.slice(2), { write, stdin: process.stdin });
