/**
 * The results of all reports on evidence, as closed lists for the verifier, the command, the routes and the console.
 */
export const evidenceAnswers = {
  verdict: ['VERIFIED', 'INCOMPLETE', 'UNDECIDABLE', 'NOT_VERIFIED'],
  integrity: ['VERIFIED', 'BROKEN', 'UNDECIDED'],
  completeness: ['COMPLETE', 'INCOMPLETE', 'UNDECIDED'],
  signer: ['TRUSTED', 'NOT_TRUSTED', 'UNKNOWN', 'UNDECIDED'],
  /**
   * `LOGGED`: checkpoints of the operator's log bound the time of each receipt. `WITNESSED`: cosignatures of another
   * party bound it. `CLAIMED`: only the signer of a receipt states its time.
   */
  time: ['LOGGED', 'WITNESSED', 'CLAIMED', 'CONTRADICTED', 'UNDECIDED'],
} as const;

export type EvidenceAnswer<Question extends keyof typeof evidenceAnswers> = (typeof evidenceAnswers)[Question][number];
