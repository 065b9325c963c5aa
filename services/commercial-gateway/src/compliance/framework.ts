import type { EvidenceName } from './evidence-kinds.ts';

export type Control = {
  readonly id: string;
  readonly title: string;
  /** What the framework asks for, in our words. */
  readonly asks: string;
  /** What this product adds to it. */
  readonly adds: string;
  /** All of them are needed for `evidenced`. */
  readonly evidence: readonly EvidenceName[];
  /** What the control asks for that no receipt can show; such a control is `partial` at most. `null` when receipts can show all of it. */
  readonly beyondReceipts: string | null;
};

export type Framework = {
  readonly title: string;
  readonly controls: readonly Control[];
};
