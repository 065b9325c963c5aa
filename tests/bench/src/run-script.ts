const toolAnswerBytes = 64;

/** What the scripted model does with a task of this text: it asks for one tool, and answers when it has the result. */
export const runDirective = `call:notes__fill {"bytes":${toolAnswerBytes}}`;

/** What such a run consists of, in order. */
export const stepsOfRun = ['model_call', 'tool_call', 'model_call'].map((kind) => `${kind} settled ALLOW`);

/** What the kernel seals for it, in order: the call that the model asks for is judged there, and again when it is executed. */
export const receiptsOfRun = [
  'decision model.call ALLOW',
  'decision tool.call ALLOW',
  'outcome model.call ALLOW',
  'decision tool.call ALLOW',
  'outcome tool.call ALLOW',
  'decision model.call ALLOW',
  'outcome model.call ALLOW',
];

/** What the workspace's log tells of it, in order. */
export const auditOfRun = [
  'run.enqueued',
  'run.running',
  'step.model_call',
  'step.tool_call',
  'step.model_call',
  'run.completed',
];
