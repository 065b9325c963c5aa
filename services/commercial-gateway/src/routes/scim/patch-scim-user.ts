import { patchScimUser } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { changeUser } from '../../provisioning/change-user.ts';
import { answerChanged, userAnswers } from '../../provisioning/resource-answers.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';
import { patchUser } from '../../scim/parse-resource.ts';

export const patchScimUserRoute = (context: Context) =>
  handleScim(patchScimUser)(async (input) => {
    const { id } = input.params;
    const changed = await changeUser(context, id, (before) => patchUser(before, input.body), requestOf(input));
    return answerChanged(await userAnswers(context, changed, input.query));
  });
