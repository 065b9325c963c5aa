import type { BudgetId, GateName, PrincipalId } from '@countersign/contracts';
import { asAdministrator } from './_administrator.ts';
import { newSession } from './_caller.ts';
import { attempt, type Attempt, type Door, type Site } from './_doors.ts';
import { limitCauses } from './_limit-causes.ts';
import { relationCauses } from './_relation-causes.ts';
import { approve } from './_upstreams.ts';
import { ofNoTwin } from './_twins.ts';

const hourMs = 3_600_000;

/** A real reason for which a gate stops a call, and how it goes away again. */
export type Cause = {
  gate: GateName;
  name: string;
  said: string;
  /** The doors that can meet it; every one unless it says otherwise. */
  meetsAt?: (door: Door) => boolean;
  /** Brings it about right before the door decides. */
  arises?: (at: At) => Promise<void>;
  /** The call that meets it, where it is not the ordinary one. */
  given?: (at: At) => Promise<Partial<Attempt>> | Partial<Attempt>;
  ends?: (at: At) => Promise<void>;
};

export type At = { site: Site; door: Door; advance: (ms: number) => void };

/** Allows what the doors ask for, but does this with the action that a door decides about. */
function bundleOf(action: Door['action'], effect: 'allow' | 'deny' | 'escalate' | 'none', demanded?: string): string {
  const other = action === 'tool.call' ? 'model.call' : 'tool.call';
  const judged = effect === 'none' ? '' : `  - { id: judged, effect: ${effect}, match: { action: [${action}] } }\n`;
  const identity = demanded === undefined ? '' : `identity: [${demanded}]\n`;
  const rest = `  - { id: others, effect: allow, match: { action: [${other}] } }\n`;
  return `format: countersign/policy.v1\nname: doors\nversion: '1'\n${identity}rules:\n${judged}${rest}`;
}

// Only rises: an epoch is never used twice. Demo is at its own first epoch when the kernel starts.
let epoch = 1;

export async function activateRules(
  { site, door }: At,
  effect: Parameters<typeof bundleOf>[1],
  demanded?: 'proven' | 'enrolled',
): Promise<void> {
  await site.test.activate(door.tenant, bundleOf(door.action, effect, demanded), (epoch += 1));
}

/** The open rules, in a bundle with this member as well. */
async function activateRulesWith(at: At, member: string): Promise<void> {
  await at.site.test.activate(at.door.tenant, `${bundleOf(at.door.action, 'allow')}${member}\n`, (epoch += 1));
}

const openRules = (at: At) => activateRules(at, 'allow');
const administrator = ({ site }: At, sql: string, values: unknown[] = []) => asAdministrator(site.test, sql, values);

function fence(name: string, said: string, fenceOf: (door: Door) => Fenced): Cause {
  const setAs = async ({ site, door }: At, kind?: 'open') => {
    const fenced = fenceOf(door);
    await site.test.setFence(fenced.scope, kind ?? fenced.kind, fenced.callLimit);
  };
  return { gate: 'fence', name, said: `DENY ${said}`, arises: (at) => setAs(at), ends: (at) => setAs(at, 'open') };
}
type Fenced = { scope: string; kind: 'freeze' | 'quarantine' | 'throttle'; callLimit?: number };

const ofOrg = fence('a freeze of the organisation', 'SYSTEM_FROZEN', ({ tenant }) => ({
  scope: `org:of-${tenant}`,
  kind: 'freeze',
}));
const freezeOfOrg: Cause = {
  ...ofOrg,
  arises: async (at) => {
    const body = { version: 1, org_id: `of-${at.door.tenant}` };
    await at.site.test.system.putTenant({ params: { tenant: at.door.tenant }, body });
    await ofOrg.arises?.(at);
  },
};

const fences = [
  fence('a freeze of the system', 'SYSTEM_FROZEN', () => ({ scope: 'system', kind: 'freeze' })),
  fence('a freeze of the tenant', 'SYSTEM_FROZEN', ({ tenant }) => ({ scope: `tenant:${tenant}`, kind: 'freeze' })),
  freezeOfOrg,
  fence('a quarantine of the tenant', 'TENANT_QUARANTINED', ({ tenant }) => ({
    scope: `tenant:${tenant}`,
    kind: 'quarantine',
  })),
  fence('a quarantine of the agent', 'AGENT_QUARANTINED', ({ tenant, principal }) => ({
    scope: `agent:${tenant}/${principal}`,
    kind: 'quarantine',
  })),
  fence('a throttle', 'THROTTLED', ({ tenant }) => ({ scope: `tenant:${tenant}`, kind: 'throttle', callLimit: 0 })),
];

/** Simulates an attack with access to the database: every active bundle stored once more, under an unsigned epoch. */
const unsignedEpochs = 1_000_000;
function storedAgain(bundle: string): Pick<Cause, 'arises' | 'ends'> {
  return {
    arises: (at) =>
      administrator(
        at,
        `WITH heads AS (UPDATE policy_heads SET epoch = epoch + ${unsignedEpochs} WHERE ${ofNoTwin} RETURNING tenant_id, epoch)
         INSERT INTO policy_bundles
         SELECT tenant_id, h.epoch, policy_hash, ${bundle}, key_id, signature, activated_at
           FROM policy_bundles b JOIN heads h USING (tenant_id) WHERE b.epoch = h.epoch - ${unsignedEpochs}`,
      ),
    ends: async (at) => {
      await administrator(at, `UPDATE policy_heads SET epoch = epoch - ${unsignedEpochs} WHERE ${ofNoTwin}`);
      await administrator(at, `DELETE FROM policy_bundles WHERE epoch > ${unsignedEpochs} AND ${ofNoTwin}`);
    },
  };
}

/** A head and its bundles go together: the database lets no head name a bundle that is not there. */
const renamed = (name: string, which: string) =>
  `WITH heads AS (UPDATE policy_heads SET tenant_id = ${name} WHERE ${which})
   UPDATE policy_bundles SET tenant_id = ${name} WHERE ${which}`;

const policies: Cause[] = [
  {
    gate: 'policy',
    name: 'no active bundle',
    said: 'DENY POLICY_MISSING',
    arises: (at) => administrator(at, renamed(`'gone ' || tenant_id`, ofNoTwin)),
    ends: (at) => administrator(at, renamed(`replace(tenant_id, 'gone ', '')`, `tenant_id LIKE 'gone %'`)),
  },
  {
    gate: 'policy',
    name: 'a bundle that was not confirmed for a day',
    said: 'DENY POLICY_STALE',
    arises: async ({ advance }) => advance(25 * hourMs),
    ends: async ({ advance }) => advance(-25 * hourMs),
  },
  { gate: 'policy', name: 'a damaged bundle', said: 'DENY POLICY_SIGNATURE_INVALID', ...storedAgain(`'{'`) },
  {
    gate: 'policy',
    name: 'a bundle under an unsigned epoch',
    said: 'DENY POLICY_SIGNATURE_INVALID',
    ...storedAgain('bundle'),
  },
];

/** The ceiling of its tenant that the bundle of the doors does not hold. */
const ceiling = { id: 'ceiling.tested', effect: 'deny' as const, match: { tool: ['tested.*'] } };
let ceilingsVersion = 0;
async function setCeilings({ site, door: { tenant } }: At, rules: (typeof ceiling)[]): Promise<void> {
  const version = (ceilingsVersion += 1);
  const set_by = 'operator' as PrincipalId; // within its schema
  const standing = await site.test.system.getPolicyCeilings({ params: { tenant } }).catch(() => null);
  const headers: Record<string, string> = standing === null ? {} : { 'if-match': `"${standing.body.version}"` };
  await site.test.system.putPolicyCeilings({
    params: { tenant },
    body: { version, rules, needs_decision: false, set_by },
    headers,
  });
}
policies.push({
  gate: 'policy',
  name: 'a bundle that lacks a ceiling of its tenant',
  said: 'DENY CEILING_MISSING',
  arises: (at) => setCeilings(at, [ceiling]),
  ends: (at) => setCeilings(at, []),
});

/** Nothing else brings an agent back that was revoked, or makes one unknown that was enrolled. */
const forgetIdentities = (at: At) => administrator(at, `DELETE FROM identities WHERE ${ofNoTwin}`);

const identities: Cause[] = [
  {
    gate: 'identity',
    name: 'a policy that demands a proven identity of a caller who only claims one',
    said: 'DENY CREDENTIALS_MISSING',
    arises: (at) => activateRules(at, 'allow', 'proven'),
    ends: openRules,
  },
  {
    gate: 'identity',
    name: 'a policy that demands enrolment of a caller who is not enrolled',
    said: 'DENY AGENT_UNKNOWN',
    arises: (at) => activateRules(at, 'allow', 'enrolled'),
    ends: openRules,
  },
  {
    gate: 'identity',
    name: 'an agent that was revoked',
    said: 'DENY AGENT_REVOKED',
    arises: async ({ site, door: { tenant, principal } }) => {
      const params = { directory: 'agents' as const, principal };
      await site.test.as(tenant).putIdentity({ params, body: { display_name: 'Its last day' } });
      await site.test.as(tenant).revokeIdentity({ params });
    },
    ends: forgetIdentities,
  },
];

const registered = ({ registered: isRegistered }: Door) => isRegistered;

function serverState(state: string, said: string): Cause {
  const become = (at: At, to: string) => administrator(at, `UPDATE mcp_servers SET state = $1`, [to]);
  return {
    gate: 'registry',
    name: `a server that is ${state}`,
    said,
    meetsAt: registered,
    arises: (at) => become(at, state),
    ends: (at) => become(at, 'approved'),
  };
}

/** The note server's annotations of writing; a server that suddenly calls it reading asks to be trusted more. */
const asPinned = { readOnlyHint: false, destructiveHint: false };

const registry: Cause[] = [
  serverState('revoked', 'DENY SERVER_REVOKED'),
  serverState('quarantined', 'ESCALATE SERVER_QUARANTINED'),
  {
    gate: 'registry',
    name: 'a tool that is not as it was pinned',
    said: 'DENY SCHEMA_DRIFT',
    meetsAt: registered,
    arises: async ({ site }) => site.notes.redefine('write_note', { annotations: { readOnlyHint: true } }),
    ends: async ({ site }) => site.notes.redefine('write_note', { annotations: asPinned }),
  },
  {
    gate: 'arguments',
    name: 'arguments that break the pinned schema',
    said: 'DENY SCHEMA_VIOLATION',
    meetsAt: registered,
    given: () => ({ args: { id: 7, text: 'x' } }),
  },
];

const request: Cause = {
  gate: 'request',
  name: 'arguments that are no JSON',
  said: 'DENY MALFORMED_ARGUMENTS',
  // Everywhere else they are a part of a body, and a body that is no JSON is refused before anything is decided.
  meetsAt: ({ proposed }) => proposed,
  given: () => ({ argumentsText: '{"id":"a' }),
};

const noObject: Cause = {
  gate: 'request',
  name: 'arguments that are no object',
  said: 'DENY MALFORMED_ARGUMENTS',
  // A client of MCP sends none; a handwritten message is denied too (mcp-plain). The contract gives the demo a shape.
  meetsAt: ({ name }) => name === 'evaluate' || name === 'execute-mcp',
  given: () => ({ args: ['text'] as never }),
};

// Only rises, as the source of the lists says it does.
let blocksVersion = 0;
const blockTools = async ({ site, door }: At, tools: string[]) => {
  const version = (blocksVersion += 1);
  await site.test.system.putToolBlocks({ params: { tenant: door.tenant }, body: { version, tools } });
};

const rules: Cause[] = [
  {
    gate: 'rules',
    name: 'a tool that the workspace blocks, whatever the rules say',
    said: 'DENY TOOL_BLOCKED',
    meetsAt: ({ action }) => action === 'tool.call',
    arises: (at) => blockTools(at, ['replies__draft', 'notes__write_note']),
    ends: (at) => blockTools(at, []),
  },
  {
    gate: 'rules',
    name: 'a rule that denies',
    said: 'DENY POLICY_DENIED',
    arises: (at) => activateRules(at, 'deny'),
    ends: openRules,
  },
  {
    gate: 'rules',
    name: 'no rule that matches',
    said: 'DENY NO_MATCHING_RULE',
    arises: (at) => activateRules(at, 'none'),
    ends: openRules,
  },
];

const budget: Cause = {
  gate: 'budget',
  name: 'a budget with nothing left',
  said: 'DENY BUDGET_EXCEEDED',
  arises: async ({ site, door }) => {
    const ceilings = { tool_call_limit: 0, spend_limit_minor: 0, egress_limit_bytes: null, write_limit: null };
    const terms = { subject: 'tenant', window: 'total' as const, currency: 'EUR', approval_required_above_minor: null };
    const params = { budget_id: 'exhausted' as BudgetId }; // within its schema
    await site.test.as(door.tenant).putBudget({ params, body: { ...terms, ...ceilings } });
  },
  ends: (at) => administrator(at, `DELETE FROM budgets WHERE ${ofNoTwin}`),
};

const costly: Cause = {
  gate: 'approval',
  name: 'a budget that asks for an approval of what costs more than nothing',
  said: 'ESCALATE BUDGET_APPROVAL_REQUIRED',
  meetsAt: ({ costs }) => costs,
  arises: async ({ site, door }) => {
    const terms = { subject: 'tenant', window: 'total', currency: 'EUR', approval_required_above_minor: 0 } as never; // the schema has the defaults
    await site.test.as(door.tenant).putBudget({ params: { budget_id: 'asking' }, body: terms });
  },
  ends: (at) => administrator(at, `DELETE FROM budgets WHERE ${ofNoTwin}`),
};

/** A call that was asked about and approved. */
async function approved(at: At): Promise<Pick<Attempt, 'session' | 'grant'>> {
  const session = newSession();
  await activateRules(at, 'escalate');
  const { approvalId } = await attempt(at.site, at.door, { session });
  if (approvalId === undefined) throw new Error(`${at.door.name} names no approval`);
  await approve(at.site.test, approvalId);
  return { session, grant: approvalId };
}

const takesGrant = (door: Door) => door.takesGrant;

const approvals: Cause[] = [
  {
    gate: 'approval',
    name: 'a rule that requires an approval that was not given',
    said: 'ESCALATE APPROVAL_REQUIRED',
    arises: (at) => activateRules(at, 'escalate'),
    ends: openRules,
  },
  {
    gate: 'approval',
    name: 'the approval of another call',
    said: 'DENY APPROVAL_MISMATCH',
    meetsAt: takesGrant,
    given: async (at) => ({ ...(await approved(at)), args: { id: 'a', text: 'y' } }),
    ends: openRules,
  },
  {
    gate: 'approval',
    name: 'an approval that was used',
    said: 'DENY APPROVAL_CONSUMED',
    meetsAt: takesGrant,
    given: async (at) => {
      const call = await approved(at);
      const { executed } = await attempt(at.site, at.door, call);
      if (!executed) throw new Error(`${at.door.name} does not take its approval`);
      return call;
    },
    ends: openRules,
  },
  {
    gate: 'approval',
    name: 'an approval that expired',
    said: 'DENY APPROVAL_EXPIRED',
    meetsAt: takesGrant,
    given: approved,
    arises: async ({ advance }) => advance(hourMs),
    ends: async (at) => {
      at.advance(-hourMs);
      await openRules(at);
    },
  },
];

export const causes: Cause[] = [
  request,
  noObject,
  ...fences,
  ...policies,
  ...identities,
  ...relationCauses({ openRules, administrator, activateWith: activateRulesWith }),
  ...registry,
  ...limitCauses({ openRules, activateWith: activateRulesWith, forgetIdentities }),
  ...rules,
  budget,
  costly,
  ...approvals,
];
