import { createScimGroup } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { createGroup } from '../../provisioning/change-group.ts';
import { answerCreated, groupAnswers } from '../../provisioning/resource-answers.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';

export const createScimGroupRoute = (context: Context) =>
  handleScim(createScimGroup)(async (input) => {
    const created = await createGroup(context, input.body, requestOf(input));
    return answerCreated(await groupAnswers(context, created, input.query));
  });
