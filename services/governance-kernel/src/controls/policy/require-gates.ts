import { gateOrder, type GateName } from '@countersign/contracts';

/** A kernel that would skip a gate must not start. Throws with the names of missing gates. */
export function requireGates(wired: readonly GateName[]): void {
  const missing = gateOrder.filter((gate) => !wired.includes(gate));
  if (missing.length > 0)
    throw new Error(`These gates are not wired, so the kernel does not start: ${missing.join(', ')}`);
}
