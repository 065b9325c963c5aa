import { putScimUser } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { changeUser } from '../../provisioning/change-user.ts';
import { answerChanged, userAnswers } from '../../provisioning/resource-answers.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';
import { replaceUser } from '../../scim/parse-resource.ts';

export const putScimUserRoute = (context: Context) =>
  handleScim(putScimUser)(async (input) => {
    const { id } = input.params;
    const changed = await changeUser(context, id, (before) => replaceUser(before, input.body), requestOf(input));
    return answerChanged(await userAnswers(context, changed, input.query));
  });
