import type { EvidenceName } from './evidence-kinds.ts';

export type Control = {
  readonly id: string;
  readonly title: string;
  /** The requirement of the framework, paraphrased. */
  readonly asks: string;
  /** The contribution of this product to the requirement. */
  readonly adds: string;
  /** Kinds of evidence. The control is `evidenced` only when all of them occur. */
  readonly evidence: readonly EvidenceName[];
  /**
   * The part of the requirement that receipts cannot show. A control with such a part is at most `partial`. `null` when
   * receipts can show the whole requirement.
   */
  readonly beyondReceipts: string | null;
};

export type Framework = {
  readonly title: string;
  readonly controls: readonly Control[];
};
