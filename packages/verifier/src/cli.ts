#!/usr/bin/env node
/// <reference types="node" />
import { runCli } from './run-cli.ts';

process.exitCode = runCli(process.argv.slice(2), (text) => process.stdout.write(text));
