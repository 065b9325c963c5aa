import type { PackReplayReport } from '@countersign/contracts/governance-kernel';
import type { ExportReport, TrustedKeys, VerifierOptions } from '@countersign/verifier';

/** All inputs of a report. They are copied to the worker, so they contain no functions. */
export type Judged = { text: string; trust: TrustedKeys; expected: VerifierOptions };

/** `policy`: the text of the bundle to decide under. `null` for the policies in the pack. */
export type Replayed = Judged & { policy: string | null };

export type Work = ({ kind: 'verify' } & Judged) | ({ kind: 'replay' } & Replayed);

/** `refused`: the policy of a replay is not a valid bundle, with the reason. */
export type Result =
  | { kind: 'verified'; report: ExportReport }
  | { kind: 'replayed'; report: PackReplayReport }
  | { kind: 'refused'; message: string };
