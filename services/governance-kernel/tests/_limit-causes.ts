import type { At, Cause } from './_causes.ts';
import { preflightSandbox } from '@countersign/contracts/governance-kernel';
import { ungranted, type Door } from './_doors.ts';

const toolCalls = ({ action }: Door) => action === 'tool.call';
/** A visitor of the demo has no credential. */
const withCredential = (door: Door) => toolCalls(door) && door.name !== 'run-demo';

type Means = {
  openRules: (at: At) => Promise<void>;
  activateWith: (at: At, member: string) => Promise<void>;
  forgetIdentities: (at: At) => Promise<void>;
};

/** The limits of a key and a bundle beside the rules. */
export const limitCauses = ({ openRules, activateWith, forgetIdentities }: Means): Cause[] => [
  {
    gate: 'scopes',
    name: 'a key that was made for another tool',
    said: 'DENY INSUFFICIENT_SCOPE',
    meetsAt: withCredential,
    given: async ({ site, door: { tenant, principal } }) => {
      const terms = { kind: 'agent', principal_id: principal, doors: ['evaluate', 'chat', 'mcp'] };
      const body = { ...terms, tools: ['notes.read_note'] } as never; // branded and defaulted by the schema
      return { bearer: (await site.test.as(tenant).createAccessKey({ body })).body.key };
    },
    // The holder of a key is enrolled.
    ends: forgetIdentities,
  },
  {
    gate: 'sandbox',
    name: 'a tool that the policy lets run in a sandbox alone',
    said: 'DENY SANDBOX_GRANT_MISSING',
    meetsAt: (door) => toolCalls(door) && door.route !== preflightSandbox,
    arises: (at) =>
      activateWith(
        at,
        'tools: { notes.write_note: { effect_level: E2, sandbox: true }, replies.draft: { effect_level: E2, sandbox: true } }',
      ),
    ends: openRules,
  },
  {
    gate: 'sandbox',
    name: 'a process of a tool that nothing is granted to',
    said: 'DENY SANDBOX_GRANT_MISSING',
    meetsAt: ({ route }) => route === preflightSandbox,
    given: () => ({ tool: ungranted }),
  },
  {
    gate: 'provenance',
    name: 'a tool that the policy lets the kernel alone send, where the caller would',
    said: 'DENY DIRECT_UPSTREAM_BYPASS',
    meetsAt: (door) => toolCalls(door) && !door.dispatched && !(door.proposed && door.registered),
    arises: (at) =>
      activateWith(
        at,
        'tools: { notes.write_note: { effect_level: E2, dispatched_by: kernel }, replies.draft: { effect_level: E2, dispatched_by: kernel } }',
      ),
    ends: openRules,
  },
  {
    gate: 'egress',
    name: 'a server where the policy lets nothing go',
    said: 'DENY EGRESS_BLOCKED',
    meetsAt: ({ registered }) => registered,
    arises: (at) => activateWith(at, 'egress: [notes.example.com, "*.internal"]'),
    ends: openRules,
  },
];
