import { runRedrive } from './redrive/command.ts';

process.exitCode = await runRedrive(process.argv.slice(2), {
  write: (text) => void process.stdout.write(text),
  tell: (text) => void process.stderr.write(text),
});
