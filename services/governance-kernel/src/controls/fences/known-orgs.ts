import type { TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';

/** Above this number all entries are dropped. Each returns with the next call of its tenant. */
const tenantsMax = 100_000;

/**
 * The organisation in which a tenant was last seen. It is a guess that selects the fences to read. The decision
 * compares it with the rows of its batch, and starts over when it was wrong.
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
