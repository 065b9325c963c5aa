import type { TenantId } from '@countersign/contracts';
import { NotSent } from '../../decision/not-sent.ts';

/** The most concurrent calls of one server, since each keeps its answer, up to 4 MiB, in memory. */
const runningCallsMax = 128;

/**
 * Limits the concurrent calls of one server. One tenant has at most half of the slots, so that it cannot occupy a
 * server of the installation.
 */
export class CallSlots {
  readonly #max: number;
  readonly #running = new Map<TenantId, number>();
  #total = 0;

  constructor(max = runningCallsMax) {
    this.#max = max;
  }

  get running(): number {
    return this.#total;
  }

  /** Throws NotSent when every slot is in use. The returned function frees the slot. */
  take(tenant: TenantId): () => void {
    const own = this.#running.get(tenant) ?? 0;
    if (this.#total >= this.#max || own >= Math.ceil(this.#max / 2))
      throw new NotSent('The MCP server already has the maximum number of calls in progress. Try again later');
    this.#running.set(tenant, own + 1);
    this.#total += 1;
    return () => {
      this.#total -= 1;
      const remaining = (this.#running.get(tenant) ?? 1) - 1;
      if (remaining === 0) this.#running.delete(tenant);
      else this.#running.set(tenant, remaining);
    };
  }
}
