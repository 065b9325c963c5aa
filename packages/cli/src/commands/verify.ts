import type { Command } from 'commander';
import { runCli } from '@countersign/verifier/run-cli';
import type { Io } from '../io.ts';

/** Adds `countersign verify`, with the options and exit statuses of countersign-verify. */
export function addVerify(program: Command, io: Io, end: (status: number) => void): void {
  program
    .command('verify')
    .description('Verify an export offline: countersign-verify, with its options (countersign verify --help).')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[arguments...]')
    .action(async (_arguments: string[], _options: object, command: Command) => end(await runCli(command.args, io)));
}
