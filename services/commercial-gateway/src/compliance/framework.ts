import type { EvidenceName } from './evidence-kinds.ts';

export type Control = {
  readonly id: string;
  readonly title: string;
  /** The requirement of the framework, in our words. */
  readonly asks: string;
  /** The contribution of this product. */
  readonly adds: string;
  /** All of them are needed for `evidenced`. */
  readonly evidence: readonly EvidenceName[];
  /**
   * The part of the control's requirement that no receipt can show; such a control is `partial` at most. `null` when
   * receipts can show all of it.
   */
  readonly beyondReceipts: string | null;
};

export type Framework = {
  readonly title: string;
  readonly controls: readonly Control[];
};
