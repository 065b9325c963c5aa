import { windowStartMs } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { inMoney } from '../parts/in-money.ts';

/** One limit of a budget with its use, in the unit of the limit. */
type Ceiling = { what: string; limit: number; used: number; reserved: number; show: (amount: number) => string };

/** The limits of a budget, one entry for each. */
export function ceilingsOf({ used, reserved, currency, ...terms }: Budget): Ceiling[] {
  const plain = new Intl.NumberFormat();
  const count = (amount: number) => plain.format(amount);
  const money = (amount: number) => inMoney(amount, currency);
  const all = [
    { what: 'calls', limit: terms.tool_call_limit, used: used.tool_calls, reserved: reserved.tool_calls, show: count },
    {
      what: 'spend',
      limit: terms.spend_limit_minor,
      used: used.spend_minor,
      reserved: reserved.spend_minor,
      show: money,
    },
    {
      what: 'bytes out',
      limit: terms.egress_limit_bytes,
      used: used.egress_bytes,
      reserved: reserved.egress_bytes,
      show: count,
    },
    { what: 'writes', limit: terms.write_limit, used: used.writes, reserved: reserved.writes, show: count },
  ];
  return all.flatMap(({ limit, ...use }) => (limit === null ? [] : [{ ...use, limit }]));
}

/** A forecast needs at least this share of the window. */
const leastShareToForecast = 0.02;

/**
 * The expected usage at the end of the window at the current rate. `null` when it is still unknown, or when the window
 * never ends.
 */
export function forecastOf(
  used: number,
  { window, resets_at }: Pick<Budget, 'window' | 'resets_at'>,
  nowMs: number,
): number | null {
  const endMs = resets_at === null ? null : Date.parse(resets_at);
  const startMs = windowStartMs({ window, resetsAtMs: endMs });
  if (endMs === null || startMs === null) return null;
  const share = (nowMs - startMs) / (endMs - startMs);
  return share < leastShareToForecast || share > 1 ? null : Math.ceil(used / share);
}
