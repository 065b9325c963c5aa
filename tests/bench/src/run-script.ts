const toolAnswerBytes = 64;

/** The model's script for a task with this text: it calls one tool, and answers when it has the result. */
export const runDirective = `call:notes__fill {"bytes":${toolAnswerBytes}}`;

/** The steps of a run with this script, in order. */
export const stepsOfRun = ['model_call', 'tool_call', 'model_call'].map((kind) => `${kind} settled ALLOW`);

/**
 * The receipts that the kernel seals for such a run, in order. The tool call has two decisions: one when the model
 * proposes it, and one when it is executed.
 */
export const receiptsOfRun = [
  'decision model.call ALLOW',
  'decision tool.call ALLOW',
  'outcome model.call ALLOW',
  'decision tool.call ALLOW',
  'outcome tool.call ALLOW',
  'decision model.call ALLOW',
  'outcome model.call ALLOW',
];

/** The audit entries of such a run, in order. */
export const auditOfRun = [
  'run.enqueued',
  'run.running',
  'step.model_call',
  'step.tool_call',
  'step.model_call',
  'run.completed',
];
