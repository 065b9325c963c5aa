/** The requester: the agent of one workspace, within one run that a person started. */
export type Asker = { workspaceId: string; runId: string; startedBy: string };

/** A step as it is submitted to the kernel. The kernel recognises a repeated request by the idempotency key. */
export type GovernedStep = Asker & {
  idempotencyKey: string;
  approvalGrant: string | null;
  startedAt: Date;
  signal: AbortSignal;
};

/** A call of a tool; `args` is canonical JSON text. */
export type GovernedCall = { tool: string; args: string };
