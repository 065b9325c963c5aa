import type { TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';

/** Beyond this all are forgotten: each comes back with the next call of its tenant. */
const tenantsMax = 100_000;

/**
 * Which organisation a tenant was last seen in. A guess that says which fences a decision has to read: the decision holds it against
 * the rows of its batch, and starts over when it was wrong.
 */
export class KnownOrgs {
  readonly #orgs = new Map<TenantId, OrgId>();

  of(tenant: TenantId): OrgId | null {
    return this.#orgs.get(tenant) ?? null;
  }

  learn(tenant: TenantId, org: OrgId | null): void {
    if (this.#orgs.size >= tenantsMax) this.#orgs.clear();
    if (org === null) this.#orgs.delete(tenant);
    else this.#orgs.set(tenant, org);
  }
}
