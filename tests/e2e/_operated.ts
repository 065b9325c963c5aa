import { afterAll, beforeAll } from '@jest/globals';
import { untilAnswered } from '@countersign/testkit/until';
import { startReplicas, type Replicas } from './_replicas.ts';
import { personAt, type Person } from './_signed-in.ts';
import { type KernelClient } from './_system.ts';
import type { Report } from './_tab.ts';

/** The call of an agent that reads, complete enough for a decision. */
const usual = { action: 'tool.call', tool: 'crm.read' };

type Evaluating = Pick<KernelClient, 'evaluate'>;
type Decision = Awaited<ReturnType<KernelClient['evaluate']>>['body'];

export type Operated = {
  /** Started before the tests of the file and stopped after them. */
  readonly site: Replicas;
  /** A person with a new workspace, so that no test stops another test's calls. */
  newPerson(): Promise<Person>;
  newSession(): string;
  /** Sends a request to the operations of a person's workspace. */
  operate(who: Person, path: string, body: object): Promise<Report>;
  /** The content of the person's operations page. */
  operations(who: Person): Promise<Report['body']>;
  /** The decision of one kernel. The default call is a read in a new session. */
  decisionBy(agent: Evaluating, call?: object): Promise<Decision>;
  /** The reason codes of both kernels' decisions on the same call. */
  reasonsBy(who: Pick<Person, 'workspaceId'>, principal?: string, call?: object): Promise<string[]>;
  /** Writes the policy. Waits until both kernels return `verdict` for lifting a stop in this workspace. */
  rule(who: Pick<Person, 'workspaceId'>, text: string, verdict: string): Promise<void>;
};

/**
 * Replicas for all tests of one file. Each file with such tests needs its own, because it writes the policy of the
 * replicas and kills them.
 */
export function useOperated(policy: string, variables?: Parameters<typeof startReplicas>[1]): Operated {
  let started: Replicas | null = null;
  let count = 0;
  beforeAll(async () => {
    started = await startReplicas(policy, variables);
  });
  afterAll(() => started?.stop());
  const site = () => {
    if (started === null) throw new Error('The replicas start before the first test');
    return started;
  };
  const newSession = () => `session-${(count += 1)}`;
  const at = ({ workspaceId }: Pick<Person, 'workspaceId'>) => ({ 'x-workspace-id': workspaceId });
  const decisionBy = async (agent: Evaluating, call: object = {}) => {
    const body = { session_id: newSession(), ...usual, ...call } as never; // unbranded names
    return (await agent.evaluate({ body })).body;
  };
  return {
    get site() {
      return site();
    },
    newPerson: () => personAt(site().gateway.url, `person-${(count += 1)}@example.org`),
    newSession,
    operate: (who, path, body) => who.tab.send(`/api/ops/${path}`, { method: 'POST', headers: at(who), body }),
    operations: async (who) => (await who.tab.send('/api/ops', { headers: at(who) })).body,
    decisionBy,
    reasonsBy: async (who, principal, call) => {
      const agents = site().agents(who.workspaceId, principal);
      const decisions = await Promise.all(agents.map((agent) => decisionBy(agent, call)));
      return decisions.map(({ reason_code }) => reason_code);
    },
    rule: async (who, text, verdict) => {
      site().writePolicy(text);
      const lift = { action: 'fence.lift', tool: undefined, resource: 'fence:system?epoch=1', effect_level: 'E3' };
      await untilAnswered(async () => {
        const agents = site().agents(who.workspaceId, 'prober');
        const messages = await Promise.all(agents.map((agent) => decisionBy(agent, { ...lift, mode: 'shadow' })));
        return messages.every((decision) => decision.verdict === verdict);
      });
    },
  };
}

export const both = (code: string): string[] => [code, code];
