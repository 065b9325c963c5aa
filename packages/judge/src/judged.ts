import type { PackReplayReport } from '@countersign/contracts/governance-kernel';
import type { ExportReport, TrustedKeys, VerifierOptions } from '@countersign/verifier';

/** All that a report depends on. It is copied to the worker, so it holds no functions. */
export type Judged = { text: string; trust: TrustedKeys; expected: VerifierOptions };

/** `policy`: the text of the bundle to decide under. `null`: the policies of the pack. */
export type Replayed = Judged & { policy: string | null };

export type Work = ({ kind: 'verify' } & Judged) | ({ kind: 'replay' } & Replayed);

/** `refused`: the policy of a replay is no bundle, and why. */
export type Result =
  | { kind: 'verified'; report: ExportReport }
  | { kind: 'replayed'; report: PackReplayReport }
  | { kind: 'refused'; message: string };
