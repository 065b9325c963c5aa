import { createClient } from '@countersign/contracts';
import { gatewayRoutes } from '@countersign/contracts/routes';
import { patienceMs } from '@countersign/testkit/until';
import { signIn, type GatewayClient } from '../e2e/_system.ts';

/** The steps of a run, and its end if no part is killed during its calls. */
const plots = {
  writes: [['write', 'write'], ['write'], ['write']],
  asks: [['write'], ['ask'], ['write']],
  'asks in vain': [['write'], ['ask'], ['write']],
  'asks nobody': [['write'], ['ask'], ['write']],
  'is denied': [['write', 'write'], ['deny'], ['write']],
} as const;
export type Plot = keyof typeof plots;

const workspaces = 4;
const allRuns = Array.from({ length: 20 }, (_, nth) => nth);
/** Longer than any part of the installation is down. */
const patience = { timeoutMs: patienceMs, repeatsForMs: patienceMs / 2 };
const lookEveryMs = 1_000;
/** A budget above the cost of all runs. Calls reserve and release money, but none is refused. */
const budgetConfig = { monthlyLlmBudget: 100_000, currency: 'USD' };

export type Person = {
  client: GatewayClient;
  workspaceId: string;
  token: string;
  doorUrl: string;
  /** Whether the model of this workspace receives denials as messages, so that a run continues after one. */
  isToldOfDenials: boolean;
};
export type StartedRun = { nth: number; plot: Plot; person: Person; taskId: string; runId: string };

/** One person for each workspace, half of them at each door. */
export async function signInPeople(doorUrls: readonly string[]): Promise<Person[]> {
  const people: Person[] = [];
  for (let nth = 0; nth < workspaces; nth += 1) {
    const doorUrl = doorUrls[nth % doorUrls.length] ?? '';
    const { token, workspaceId } = await signIn({ gatewayUrl: doorUrl }, `person-${nth}@example.org`);
    const client = clientAt(doorUrl, { token, workspaceId });
    const isToldOfDenials = nth === workspaces - 1;
    const deniedCall = isToldOfDenials ? ('tell' as const) : ('end' as const);
    const policyConfig = { maxIterationBudget: 25, blockedTools: [], deniedCall };
    await client.putWorkspaceSettings({ params: { id: workspaceId }, body: { policyConfig, budgetConfig } });
    people.push({ client, workspaceId, token, doorUrl, isToldOfDenials });
  }
  return people;
}

/** The same person with another gateway. */
export function atDoor(person: Person, doorUrl: string): Person {
  return { ...person, doorUrl, client: clientAt(doorUrl, person) };
}

function clientAt(baseUrl: string, { token, workspaceId }: Pick<Person, 'token' | 'workspaceId'>): GatewayClient {
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId };
  return createClient(gatewayRoutes, { baseUrl, headers: () => headers, ...patience });
}

/**
 * Starts all twenty runs at once, or only the runs in `nths`. A call to a killed part is repeated under the same key.
 */
export async function startRuns(people: readonly Person[], nths: readonly number[] = allRuns): Promise<StartedRun[]> {
  return await Promise.all(nths.map((nth) => startRun(people, nth)));
}

async function startRun(people: readonly Person[], nth: number): Promise<StartedRun> {
  const person = people[nth % people.length];
  if (person === undefined) throw new Error('No person is signed in');
  const plot = plotOf(nth);
  const { body: task } = await person.client.createTask({
    body: { title: `Run ${nth}`, description: scriptOf(plot, nth) },
    headers: { 'idempotency-key': `task-of-run-${nth}` },
  });
  const { body: run } = await person.client.runTask({
    params: { id: task.id },
    headers: { 'idempotency-key': `start-of-run-${nth}` },
  });
  return { nth, plot, person, taskId: task.id, runId: run.id };
}

/**
 * Every workspace has two runs that write, two that ask and one that is denied. One of the eight runs that ask is
 * refused, and one gets no answer.
 */
function plotOf(nth: number): Plot {
  const kinds: Plot[] = ['writes', 'asks', 'is denied', 'writes', 'asks'];
  if (nth === 6) return 'asks in vain';
  if (nth === 17) return 'asks nobody';
  return kinds[Math.floor(nth / workspaces)] ?? 'writes';
}

/** Each note has the name of one call of one run, so that the notes show which calls had their effect. */
function scriptOf(plot: Plot, nth: number): string {
  return plots[plot]
    .map((turn, at) => turn.map((deed, place) => directive(deed, `run-${nth}-${at}-${place}`)).join('\n'))
    .join('\nthen\n');
}

function directive(deed: 'write' | 'ask' | 'deny', name: string): string {
  switch (deed) {
    case 'write':
      return `call:notes__write_note ${JSON.stringify({ id: name, text: 'written' })}`;
    case 'ask':
    case 'deny':
      return `call:notes__write_note ${JSON.stringify({ id: `${deed}-${name}`, text: 'written' })}`;
    default:
      return deed satisfies never;
  }
}

/** Answers the approval requests of one person's runs until `stopping` aborts. `started` may grow while it runs. */
export async function answerApprovals(
  { client }: Person,
  { started, stopping }: { started: readonly StartedRun[]; stopping: AbortSignal },
): Promise<void> {
  while (!stopping.aborted) {
    const answer = await client.listWorkspaceApprovals({ query: { status: 'pending' } }).catch(() => null);
    for (const { id, sessionId } of answer?.body.data ?? []) {
      const plot = started.find(({ runId }) => runId === sessionId)?.plot;
      if (plot === undefined || plot === 'asks nobody') continue;
      const status = plot === 'asks in vain' ? 'rejected' : 'approved';
      // A killed part may have recorded the vote before it ended. The approval is then already resolved.
      await client.resolveWorkspaceApproval({ params: { id }, body: { status } }).catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs)); // between two checks of the state
  }
}
