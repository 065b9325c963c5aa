import { runCommand } from './run-command.ts';

const write = (text: string) => void process.stdout.write(text);
const tell = (text: string) => void process.stderr.write(text);

process.exitCode = await runCommand(process.argv.slice(2), { write, tell });
