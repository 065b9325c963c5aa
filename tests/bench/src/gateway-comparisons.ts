import { opened, type Bench } from './bench.ts';
import { acceptingRuns } from './accept-member.ts';
import { checkRuns } from './check-runs.ts';
import type { Closing } from './closing.ts';
import { openCommitFloor } from './commit-floor.ts';
import type { Comparison, OpenComparison } from './comparison.ts';
import { drainingRuns } from './drain-member.ts';
import { openInstallation, signIn, type Person } from './installation.ts';
import { commitMember, loadMember } from './member.ts';
import { startProcess } from './processes.ts';
import { echoedCall, evaluateCall, tasksRead } from './requests.ts';

export const gatewayComparisons: readonly Comparison[] = [
  {
    groups: [
      ['gatewayFloor', 'gatewayRead', 'gatewayReadByKey'],
      ['forwardDirect', 'forward'],
    ],
    open: openDoor,
  },
  { groups: [['acceptCommit', 'taskAccept']], open: openAccept },
  { groups: [['drain']], isOpenedOnce: true, open: openDrain },
];

const connections = 64;
/** With this number the list is about as long as the echoed body. */
const tasksListed = 3;

async function openDoor(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const { generator, settings } = bench;
  const installation = await openInstallation(bench, closing);
  const { kernel, kernelDatabase: database } = installation;
  const gateway = await installation.openGateway(closing);
  const person = await signIn(installation, gateway);
  for (let made = 0; made < tasksListed; made += 1) await createTaskOf(person);
  const floor = await opened(closing, startProcess('echo-server', ['express']));
  const common = { generator, connections };
  const read = { ...common, servers: [gateway], path: '/api/tasks', kind: tasksRead };
  const evaluate = { ...common, path: '/api/v1/evaluate', kind: evaluateCall };
  const sealing = { database, receiptsPerAnswer: 1 };
  const operator = { ...settings.headers, 'x-gov-tenant-id': person.workspaceId };
  const members = {
    gatewayFloor: loadMember({ ...common, servers: [floor], path: '/echo', kind: echoedCall }),
    gatewayRead: loadMember({ ...read, headers: person.headers }),
    gatewayReadByKey: loadMember({ ...read, headers: person.keyHeaders }),
    forwardDirect: loadMember({ ...evaluate, servers: [kernel], headers: operator, sealing }),
    forward: loadMember({ ...evaluate, servers: [gateway], headers: person.keyHeaders, sealing }),
  };
  return { members, databases: [database] };
}

async function createTaskOf({ client }: Person): Promise<void> {
  await client.createTask({ body: { title: 'Summarise the report', description: 'In three sentences.' } });
}

/**
 * No worker runs, so that only the acceptance of runs is measured. The runs wait in the queue, as they would behind
 * busy workers.
 */
async function openAccept(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const installation = await openInstallation(bench, closing);
  const floor = await openCommitFloor(installation.database.adminUrl);
  closing.add(() => floor.close());
  const members = { acceptCommit: commitMember(floor), taskAccept: await acceptingRuns(installation, closing) };
  return { members, databases: [installation.kernelDatabase] };
}

async function openDrain(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const installation = await openInstallation(bench, closing);
  const drain = await drainingRuns(bench, installation);
  return {
    members: { drain },
    databases: [installation.kernelDatabase],
    checkRuns: () => checkRuns(installation, { runs: bench.queuedRuns, toolCalls: drain.toolCalls() }),
  };
}
