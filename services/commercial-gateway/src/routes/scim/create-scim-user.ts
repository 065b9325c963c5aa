import { createScimUser } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { createUser } from '../../provisioning/create-user.ts';
import { answerCreated, userAnswers } from '../../provisioning/resource-answers.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';

export const createScimUserRoute = (context: Context) =>
  handleScim(createScimUser)(async (input) => {
    const created = await createUser(context, input.body, requestOf(input));
    return answerCreated(await userAnswers(context, created, input.query));
  });
