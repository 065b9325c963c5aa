/**
 * Opens a registry file, and decides one call for each session that the command line names. Prints the log index of
 * each receipt. The process kills itself at the step that `DIE_AT` names. It imports the build.
 */
import process from 'node:process';
import { createLogger } from '@countersign/service-kit';
import { openCore } from '../dist/local/open-core.js';

const [path = '', ...sessions] = process.argv.slice(2);
const { DIE_AT: dieAt } = process.env;
const core = await openCore({
  path,
  log: createLogger({ service: 'registry-writer', level: 'error', silent: true, layout: 'json' }),
  publicUrl: 'http://127.0.0.1:7714',
  logOrigin: 'countersign.local/boundary',
  onStep: (step) => {
    if (step === dieAt) process.kill(process.pid, 'SIGKILL');
  },
});
for (const session of sessions) {
  const { reply } = await core.boundary.decide({
    caller: { tenant: 'acme', principal: 'agent-1', scopes: [] },
    ...{ session, kind: 'tool', tool: 'files.read', resource: null, args: {}, context: {} },
    ...{ mode: 'enforce', dispatchedBy: 'caller' },
  });
  process.stdout.write(`${reply.log_index}\n`);
}
