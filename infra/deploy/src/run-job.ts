import { ConfigError, problemText } from '@countersign/service-kit';

const failed = { start: 2, run: 1 };

/** Runs a job as this process: one line of what it did and exit code 0; or one sentence, and 2 for what another try does not mend. */
export async function runJob(work: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await work()}\n`);
  } catch (error) {
    process.stderr.write(`${problemText(error)}\n`);
    process.exitCode = error instanceof ConfigError ? failed.start : failed.run;
  }
}
