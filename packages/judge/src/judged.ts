import type { ExportReport, TrustedKeys, VerifierOptions } from '@countersign/verifier';

/** All that a report depends on. It is copied to the worker, so it holds no functions. */
export type Judged = { text: string; trust: TrustedKeys; expected: VerifierOptions };
export type Verdict = { report: ExportReport };
