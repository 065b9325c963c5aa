import { listConsoleTools } from '@countersign/contracts/control-plane';
import { listRegisteredTools } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listConsoleToolsRoute = ({ kernel }: Context) =>
  handleWorkspace(listConsoleTools)(({ caller, query, signal }) =>
    answerOf('kernel', () =>
      kernel.as(caller.assertion, { listRegisteredTools }).listRegisteredTools({ query, signal }),
    ),
  );
