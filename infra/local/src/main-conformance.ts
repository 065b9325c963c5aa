import { runConformance } from '@countersign/governance-kernel';
import { localSettings } from './config.ts';
import { runningKernel } from './running-kernel.ts';

const streams = {
  write: (text: string) => void process.stdout.write(text),
  tell: (text: string) => void process.stderr.write(text),
};

process.exitCode = await runConformance(process.argv.slice(2), streams, () => runningKernel(localSettings().dataDir));
