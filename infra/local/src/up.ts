import { createLogger, runService, type Log } from '@countersign/service-kit';
import { localSettings } from './config.ts';
import { services } from '@countersign/services';
import { startLocal, type LocalSystem } from './start-local.ts';

/** Time for running calls to end, and for the last checkpoint of PostgreSQL. */
const stopTimeoutMs = 45_000;

/** Runs the whole system in the foreground until Ctrl-C. */
export async function up(): Promise<void> {
  const log = createLogger({ service: 'local', level: 'warn', layout: 'readable', stream: process.stderr });
  await runService({
    log: forPeople(log),
    stopTimeoutMs,
    start: async (lifecycle) => {
      const system = await startLocal(localSettings(), { lifecycle, log });
      if (!lifecycle.isStopping()) process.stdout.write(welcome(system));
    },
  });
}

/** Prints a failed start and the end of the system as sentences instead of events. */
function forPeople(log: Log): Log {
  return {
    ...log,
    info: (event, fields) => {
      if (event === 'service.stopping') process.stdout.write('\nStopping …\n');
      else if (event === 'service.start_interrupted')
        process.stdout.write('Countersign was stopped before it was ready.\n');
      else if (event === 'service.stopped') process.stdout.write('Stopped.\n');
      else log.info(event, fields);
    },
    error: (event, fields) => {
      if (event === 'service.start_failed')
        process.stderr.write(`\nCountersign did not start: ${String(fields?.['problem'])}\n`);
      else log.error(event, fields);
    },
  };
}

function welcome(system: LocalSystem): string {
  const { urls, consoleUrl, healthUrl, signInUrl, model, dataDir, policyFile } = system;
  const kernelUrl = urls['governance-kernel'];
  const rows = [
    ['Console', `${consoleUrl}/console`],
    ['Signs you in once', signInUrl],
    ...services.map(({ name, title }) => [`${title.charAt(0).toUpperCase()}${title.slice(1)}`, urls[name]]),
    ['OpenAI-compatible', `${kernelUrl}/v1`],
    ['MCP', `${kernelUrl}/mcp`],
    ['Kernel health', `${healthUrl}/health/ready`],
    ['Model', model.isScripted ? `${model.url} (scripted; set GOV_UPSTREAM_URL for a real one)` : model.url],
    ['Policy', policyFile],
    ['Keys', `${dataDir.path}/local.env`],
    ['Files for agents', dataDir.filesDir],
  ];
  return `\n${rows.map(([name = '', value = '']) => `  ${name.padEnd(18)} ${value}\n`).join('')}\ncountersign ready\n`;
}
