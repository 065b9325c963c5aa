import type { TenantId } from '@countersign/contracts';
import { NotSent } from '../boundary/not-sent.ts';

/** Calls of one server that run at once: each holds its answer, up to 4 MiB, in memory. */
const runningCallsMax = 128;

/** Limits the calls that run at once. One tenant has half of them at most, so that it cannot occupy a server of the installation. */
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

  /** Throws NotSent when every slot is in use. The result frees the slot. */
  take(tenant: TenantId): () => void {
    const own = this.#running.get(tenant) ?? 0;
    if (this.#total >= this.#max || own >= Math.ceil(this.#max / 2))
      throw new NotSent('The MCP server has as many calls in progress as it may have. Try again later');
    this.#running.set(tenant, own + 1);
    this.#total += 1;
    return () => {
      this.#total -= 1;
      const left = (this.#running.get(tenant) ?? 1) - 1;
      if (left === 0) this.#running.delete(tenant);
      else this.#running.set(tenant, left);
    };
  }
}
