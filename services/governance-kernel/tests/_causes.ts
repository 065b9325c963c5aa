import type { BudgetId, GateName, PrincipalId } from '@countersign/contracts';
import { asAdministrator } from './_administrator.ts';
import { newSession } from './_caller.ts';
import { attempt, type Attempt, type Door, type Site } from './_doors.ts';
import { limitCauses } from './_limit-causes.ts';
import { relationCauses } from './_relation-causes.ts';
import { approve } from './_upstreams.ts';
import { ofNoTwin } from './_twins.ts';

const hourMs = 3_600_000;

/** A condition in which a gate stops calls, and how to end the condition. */
export type Cause = {
  gate: GateName;
  name: string;
  text: string;
  /** The doors that the condition affects. The default is all doors. */
  meetsAt?: (door: Door) => boolean;
  /** Creates the condition right before the door decides. */
  arises?: (at: At) => Promise<void>;
  /** Changes to the ordinary call that make the gate stop it. */
  attempt?: (at: At) => Promise<Partial<Attempt>> | Partial<Attempt>;
  ends?: (at: At) => Promise<void>;
};

export type At = { site: Site; door: Door; advance: (ms: number) => void };

/** A bundle that has `effect` for the door's action (`none`: no rule for it) and allows the other action. */
function bundleOf(action: Door['action'], effect: 'allow' | 'deny' | 'escalate' | 'none', demanded?: string): string {
  const second = action === 'tool.call' ? 'model.call' : 'tool.call';
  const judged = effect === 'none' ? '' : `  - { id: judged, effect: ${effect}, match: { action: [${action}] } }\n`;
  const identity = demanded === undefined ? '' : `identity: [${demanded}]\n`;
  const rest = `  - { id: others, effect: allow, match: { action: [${second}] } }\n`;
  return `format: countersign/policy.v1\nname: doors\nversion: '1'\n${identity}rules:\n${judged}${rest}`;
}

// Each activation needs a higher epoch. The demo tenant already has epoch 1 when the kernel starts.
let epoch = 1;

export async function activateRules(
  { site, door }: At,
  effect: Parameters<typeof bundleOf>[1],
  demanded?: 'proven' | 'enrolled',
): Promise<void> {
  await site.test.activate(door.tenant, bundleOf(door.action, effect, demanded), (epoch += 1));
}

/** Activates a bundle that allows both actions and has this additional member. */
async function activateRulesWith(at: At, member: string): Promise<void> {
  await at.site.test.activate(at.door.tenant, `${bundleOf(at.door.action, 'allow')}${member}\n`, (epoch += 1));
}

const openRules = (at: At) => activateRules(at, 'allow');
const administrator = ({ site }: At, sql: string, values: unknown[] = []) => asAdministrator(site.test, sql, values);

function fence(name: string, text: string, fenceOf: (door: Door) => Fenced): Cause {
  const setAs = async ({ site, door }: At, kind?: 'open') => {
    const fenced = fenceOf(door);
    await site.test.setFence(fenced.scope, kind ?? fenced.kind, fenced.callLimit);
  };
  return { gate: 'fence', name, text: `DENY ${text}`, arises: (at) => setAs(at), ends: (at) => setAs(at, 'open') };
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

/** Added to a signed epoch. No signature exists for the sum. */
const unsignedEpochs = 1_000_000;
/** Simulates an attacker with database access who stores every active bundle again under an unsigned epoch. */
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

/** Renames heads and bundles together, because the database rejects a head without its bundle. */
const renamed = (name: string, which: string) =>
  `WITH heads AS (UPDATE policy_heads SET tenant_id = ${name} WHERE ${which})
   UPDATE policy_bundles SET tenant_id = ${name} WHERE ${which}`;

const policies: Cause[] = [
  {
    gate: 'policy',
    name: 'no active bundle',
    text: 'DENY POLICY_MISSING',
    arises: (at) => administrator(at, renamed(`'gone ' || tenant_id`, ofNoTwin)),
    ends: (at) => administrator(at, renamed(`replace(tenant_id, 'gone ', '')`, `tenant_id LIKE 'gone %'`)),
  },
  {
    gate: 'policy',
    name: 'a bundle that was not confirmed for a day',
    text: 'DENY POLICY_STALE',
    arises: async ({ advance }) => advance(25 * hourMs),
    ends: async ({ advance }) => advance(-25 * hourMs),
  },
  { gate: 'policy', name: 'a damaged bundle', text: 'DENY POLICY_SIGNATURE_INVALID', ...storedAgain(`'{'`) },
  {
    gate: 'policy',
    name: 'a bundle under an unsigned epoch',
    text: 'DENY POLICY_SIGNATURE_INVALID',
    ...storedAgain('bundle'),
  },
];

/** A ceiling of the tenant that the doors' bundle lacks. */
const ceiling = { id: 'ceiling.tested', effect: 'deny' as const, match: { tool: ['tested.*'] } };
let ceilingsVersion = 0;
async function setCeilings({ site, door: { tenant } }: At, rules: (typeof ceiling)[]): Promise<void> {
  const version = (ceilingsVersion += 1);
  const set_by = 'operator' as PrincipalId; // matches the schema
  const current = await site.test.system.getPolicyCeilings({ params: { tenant } }).catch(() => null);
  const headers: Record<string, string> = current === null ? {} : { 'if-match': `"${current.body.version}"` };
  await site.test.system.putPolicyCeilings({
    params: { tenant },
    body: { version, rules, needs_decision: false, set_by },
    headers,
  });
}
policies.push({
  gate: 'policy',
  name: 'a bundle that lacks a ceiling of its tenant',
  text: 'DENY CEILING_MISSING',
  arises: (at) => setCeilings(at, [ceiling]),
  ends: (at) => setCeilings(at, []),
});

/** Deletes identities, because no route reactivates a revoked agent or removes an enrolled agent. */
const forgetIdentities = (at: At) => administrator(at, `DELETE FROM identities WHERE ${ofNoTwin}`);

const identities: Cause[] = [
  {
    gate: 'identity',
    name: 'a policy that requires a proven identity, and a caller without proof',
    text: 'DENY CREDENTIALS_MISSING',
    arises: (at) => activateRules(at, 'allow', 'proven'),
    ends: openRules,
  },
  {
    gate: 'identity',
    name: 'a policy that requires enrolment, and a caller that is not enrolled',
    text: 'DENY AGENT_UNKNOWN',
    arises: (at) => activateRules(at, 'allow', 'enrolled'),
    ends: openRules,
  },
  {
    gate: 'identity',
    name: 'a revoked agent',
    text: 'DENY AGENT_REVOKED',
    arises: async ({ site, door: { tenant, principal } }) => {
      const params = { directory: 'agents' as const, principal };
      await site.test.as(tenant).putIdentity({ params, body: { display_name: 'Its last day' } });
      await site.test.as(tenant).revokeIdentity({ params });
    },
    ends: forgetIdentities,
  },
];

const registered = ({ registered: isRegistered }: Door) => isRegistered;

function serverState(state: string, text: string): Cause {
  const become = (at: At, to: string) => administrator(at, `UPDATE mcp_servers SET state = $1`, [to]);
  return {
    gate: 'registry',
    name: `a server that is ${state}`,
    text,
    meetsAt: registered,
    arises: (at) => become(at, state),
    ends: (at) => become(at, 'approved'),
  };
}

/** The pinned annotations of `write_note`. A server that later declares the tool read-only claims more trust. */
const asPinned = { readOnlyHint: false, destructiveHint: false };

const registry: Cause[] = [
  serverState('revoked', 'DENY SERVER_REVOKED'),
  serverState('quarantined', 'ESCALATE SERVER_QUARANTINED'),
  {
    gate: 'registry',
    name: 'a tool that differs from its pin',
    text: 'DENY SCHEMA_DRIFT',
    meetsAt: registered,
    arises: async ({ site }) => site.notes.redefine('write_note', { annotations: { readOnlyHint: true } }),
    ends: async ({ site }) => site.notes.redefine('write_note', { annotations: asPinned }),
  },
  {
    gate: 'arguments',
    name: 'arguments that violate the pinned schema',
    text: 'DENY SCHEMA_VIOLATION',
    meetsAt: registered,
    attempt: () => ({ args: { id: 7, text: 'x' } }),
  },
];

const request: Cause = {
  gate: 'request',
  name: 'arguments that are not JSON',
  text: 'DENY MALFORMED_ARGUMENTS',
  // At other doors the arguments are part of the body. A body that is not JSON is rejected before the decision.
  meetsAt: ({ proposed }) => proposed,
  attempt: () => ({ argumentsText: '{"id":"a' }),
};

const noObject: Cause = {
  gate: 'request',
  name: 'arguments that are not an object',
  text: 'DENY MALFORMED_ARGUMENTS',
  // MCP clients cannot send such arguments (mcp-plain tests handwritten messages). The contract of the demo rejects
  // them.
  meetsAt: ({ name }) => name === 'evaluate' || name === 'execute-mcp',
  attempt: () => ({ args: ['text'] as never }),
};

// Each list of blocked tools needs a higher version.
let blocksVersion = 0;
const blockTools = async ({ site, door }: At, tools: string[]) => {
  const version = (blocksVersion += 1);
  await site.test.system.putToolBlocks({ params: { tenant: door.tenant }, body: { version, tools } });
};

const rules: Cause[] = [
  {
    gate: 'rules',
    name: 'a tool that the rules allow and the workspace blocks',
    text: 'DENY TOOL_BLOCKED',
    meetsAt: ({ action }) => action === 'tool.call',
    arises: (at) => blockTools(at, ['replies__draft', 'notes__write_note']),
    ends: (at) => blockTools(at, []),
  },
  {
    gate: 'rules',
    name: 'a rule that denies',
    text: 'DENY POLICY_DENIED',
    arises: (at) => activateRules(at, 'deny'),
    ends: openRules,
  },
  {
    gate: 'rules',
    name: 'no matching rule',
    text: 'DENY NO_MATCHING_RULE',
    arises: (at) => activateRules(at, 'none'),
    ends: openRules,
  },
];

const budget: Cause = {
  gate: 'budget',
  name: 'a budget with nothing left',
  text: 'DENY BUDGET_EXCEEDED',
  arises: async ({ site, door }) => {
    const ceilings = { tool_call_limit: 0, spend_limit_minor: 0, egress_limit_bytes: null, write_limit: null };
    const terms = { subject: 'tenant', window: 'total' as const, currency: 'EUR', approval_required_above_minor: null };
    const params = { budget_id: 'exhausted' as BudgetId }; // matches the schema
    await site.test.as(door.tenant).putBudget({ params, body: { ...terms, ...ceilings } });
  },
  ends: (at) => administrator(at, `DELETE FROM budgets WHERE ${ofNoTwin}`),
};

const costly: Cause = {
  gate: 'approval',
  name: 'a budget that requires approval of any cost',
  text: 'ESCALATE BUDGET_APPROVAL_REQUIRED',
  meetsAt: ({ costs }) => costs,
  arises: async ({ site, door }) => {
    const terms = { subject: 'tenant', window: 'total', currency: 'EUR', approval_required_above_minor: 0 } as never; // the schema fills in the defaults
    await site.test.as(door.tenant).putBudget({ params: { budget_id: 'asking' }, body: terms });
  },
  ends: (at) => administrator(at, `DELETE FROM budgets WHERE ${ofNoTwin}`),
};

/** Requests an approval for a call and grants it. */
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
    name: 'a rule that requires a missing approval',
    text: 'ESCALATE APPROVAL_REQUIRED',
    arises: (at) => activateRules(at, 'escalate'),
    ends: openRules,
  },
  {
    gate: 'approval',
    name: 'the approval of another call',
    text: 'DENY APPROVAL_MISMATCH',
    meetsAt: takesGrant,
    attempt: async (at) => ({ ...(await approved(at)), args: { id: 'a', text: 'y' } }),
    ends: openRules,
  },
  {
    gate: 'approval',
    name: 'a used approval',
    text: 'DENY APPROVAL_CONSUMED',
    meetsAt: takesGrant,
    attempt: async (at) => {
      const call = await approved(at);
      const { executed } = await attempt(at.site, at.door, call);
      if (!executed) throw new Error(`${at.door.name} does not take its approval`);
      return call;
    },
    ends: openRules,
  },
  {
    gate: 'approval',
    name: 'an expired approval',
    text: 'DENY APPROVAL_EXPIRED',
    meetsAt: takesGrant,
    attempt: approved,
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
