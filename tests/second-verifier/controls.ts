import { need } from './fault.ts';
import { folded, laterBy, minuteMs } from './forms.ts';
import type { Policy, Scope, Sealed } from './statements.ts';

const code = 'CONTROL_CONTRADICTED';

/** The changes of controls in a pack, compared with the later decisions (11.12 to 11.14). */
export class Controls {
  readonly #isWhole: boolean;
  readonly #comparedUntil: string | null;
  readonly #fences = new Map<string, { kind: string; until: string | null }>();
  readonly #revoked = new Set<string>();
  #active: { hash: string | null; epoch: number } | null = null;

  constructor({ leaves, sessions, issued }: Scope) {
    this.#isWhole = leaves.from === 0 && sessions === null && issued === null;
    this.#comparedUntil = issued === null ? null : laterBy(issued.to, -minuteMs); // 11.14
  }

  /** Takes the next record in the order of the log. Throws `CONTROL_CONTRADICTED`. */
  take(record: Sealed, policy: Policy | undefined): void {
    if (record.kind !== 'decision') return this.#learn(record);
    if (this.#comparedUntil !== null && record.created_at >= this.#comparedUntil) return;
    if (record.policy_hash !== null) this.#assertPolicy(record, policy);
    if (record.verdict !== 'ALLOW') return;
    need(!this.#revoked.has(record.principal_id), code, '11.13');
    for (const scope of scopesAround(record)) this.#assertNoFence(scope, record);
  }

  #learn({ kind, session_id, tenant_id, policy_hash, policy_epoch, intent }: Sealed): void {
    const { action, resource, facts } = intent;
    if (kind === 'policy' && action === 'policy.change' && resource === `policy:${tenant_id}`) {
      need(this.#active === null || policy_epoch > this.#active.epoch, code, '11.12');
      this.#active = { hash: policy_hash, epoch: policy_epoch };
    }
    if (session_id === 'identities' && action === 'identity.revoke' && facts['kind'] === 'agent')
      this.#revoked.add(String(facts['principal_id']));
    if (session_id === 'fences' && action === 'fence.set' && resource?.startsWith('fence:') === true) {
      const until = typeof facts['expires_at'] === 'string' ? facts['expires_at'] : null;
      this.#fences.set(resource.slice('fence:'.length), { kind: String(facts['kind']), until });
    }
  }

  #assertPolicy({ tenant_id, policy_hash, policy_epoch }: Sealed, policy: Policy | undefined): void {
    const active = this.#active; // 11.12
    if (active !== null) return need(active.hash === policy_hash && active.epoch === policy_epoch, code, '11.12');
    need(!this.#isWhole || policy?.tenant_id !== tenant_id, code, '11.12');
  }

  #assertNoFence(scope: string, { tenant_id, created_at, intent: { action, tool } }: Sealed): void {
    const fence = this.#fences.get(scope); // 11.13
    if (fence === undefined || !['freeze', 'quarantine'].includes(fence.kind)) return;
    const isLift = scope === `tenant:${tenant_id}` && action === 'fence.lift' && tool === null;
    need(isLift || (fence.until !== null && created_at >= fence.until), code, '11.13');
  }
}

function scopesAround({ tenant_id, principal_id, intent: { tool } }: Sealed): string[] {
  const around = [`tenant:${tenant_id}`, `agent:${tenant_id}/${principal_id}`];
  if (tool === null) return around;
  const name = folded(tool)
    .replace(/^mcp__/, '')
    .replace('__', '.');
  const server = name.split('.', 1)[0] ?? '';
  const ofServer = name.includes('.') ? [`server:${tenant_id}/${server}`] : [];
  return [...around, `tool:${tenant_id}/${name}`, `tool:${tenant_id}/${name.replace('.', '_')}`, ...ofServer];
}
