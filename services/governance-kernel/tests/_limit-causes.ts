import type { At, Cause } from './_causes.ts';
import { preflightSandbox } from '@countersign/contracts/governance-kernel';
import { ungranted, type Door } from './_doors.ts';

const toolCalls = ({ action }: Door) => action === 'tool.call';
/** Visitors of the demo have no credential. */
const withCredential = (door: Door) => toolCalls(door) && door.name !== 'run-demo';

type Means = {
  openRules: (at: At) => Promise<void>;
  activateWith: (at: At, member: string) => Promise<void>;
  forgetIdentities: (at: At) => Promise<void>;
};

/** Conditions in which a limit of an access key or of a bundle, other than a rule, stops a call. */
export const limitCauses = ({ openRules, activateWith, forgetIdentities }: Means): Cause[] => [
  {
    gate: 'scopes',
    name: 'a key for another tool',
    text: 'DENY INSUFFICIENT_SCOPE',
    meetsAt: withCredential,
    attempt: async ({ site, door: { tenant, principal } }) => {
      const terms = { kind: 'agent', principal_id: principal, doors: ['evaluate', 'chat', 'mcp'] };
      const body = { ...terms, tools: ['notes.read_note'] } as never; // the schema brands these strings and fills in the defaults
      return { bearer: (await site.test.as(tenant).createAccessKey({ body })).body.key };
    },
    // Creating a key enrols its holder.
    ends: forgetIdentities,
  },
  {
    gate: 'sandbox',
    name: 'a tool that the policy permits only in a sandbox',
    text: 'DENY SANDBOX_GRANT_MISSING',
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
    name: 'a process of a tool without a sandbox grant',
    text: 'DENY SANDBOX_GRANT_MISSING',
    meetsAt: ({ route }) => route === preflightSandbox,
    attempt: () => ({ tool: ungranted }),
  },
  {
    gate: 'provenance',
    name: 'a tool that only the kernel may dispatch, in a call that its caller dispatches',
    text: 'DENY DIRECT_UPSTREAM_BYPASS',
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
    name: 'a server that the policy does not permit as a destination',
    text: 'DENY EGRESS_BLOCKED',
    meetsAt: ({ registered }) => registered,
    arises: (at) => activateWith(at, 'egress: [notes.example.com, "*.internal"]'),
    ends: openRules,
  },
];
