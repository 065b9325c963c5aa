import { need } from './fault.ts';
import { folded, laterBy, minuteMs } from './forms.ts';
import type { Policy, Scope, Sealed } from './statements.ts';
import type { JsonObject } from './strict-json.ts';

const code = 'CONTROL_CONTRADICTED';

type Fence = { kind: string; until: string | null; epoch: number | null };

/** The changes of controls in a pack, compared with the later decisions (11.12 to 11.14). */
export class Controls {
  readonly #isWhole: boolean;
  readonly #comparedUntil: string | null;
  readonly #fences = new Map<string, Fence>();
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

  #learn({ kind, verdict, session_id, tenant_id, policy_hash, policy_epoch, intent }: Sealed): void {
    const { action, resource, facts } = intent;
    if (kind === 'policy' && action === 'policy.change' && resource === `policy:${tenant_id}`) {
      need(this.#active === null || policy_epoch > this.#active.epoch, code, '11.12');
      this.#active = { hash: policy_hash, epoch: policy_epoch };
    }
    if (session_id === 'identities' && action === 'identity.revoke' && facts['kind'] === 'agent')
      this.#revoked.add(String(facts['principal_id']));
    const isFence = session_id === 'fences' && action === 'fence.set' && verdict === 'ALLOW';
    if (isFence && resource?.startsWith('fence:') === true) this.#setFence(resource.slice('fence:'.length), facts);
  }

  #setFence(scope: string, { kind, expires_at, epoch }: JsonObject): void {
    const until = typeof expires_at === 'string' ? expires_at : null;
    const before = this.#fences.get(scope)?.epoch ?? null;
    const rising = typeof epoch === 'number' ? epoch : null;
    const isKept = !/^[a-z]+:conformance:/.test(scope);
    need(!isKept || before === null || rising === null || rising > before, code, '11.13');
    this.#fences.set(scope, { kind: String(kind), until, epoch: rising ?? before });
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
  const server = /^([^.]+)\../.exec(name)?.[1];
  const ofServer = server === undefined ? [] : [`server:${server}`, `server:${tenant_id}/${server}`];
  const names = [name, name.replace('.', '_')];
  return [...around, ...names.flatMap((each) => [`tool:*/${each}`, `tool:${tenant_id}/${each}`]), ...ofServer];
}
