import { patchScimGroup } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { changeGroup } from '../../provisioning/change-group.ts';
import { answerChanged, groupAnswers } from '../../provisioning/resource-answers.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';
import { patchGroup } from '../../scim/parse-resource.ts';

export const patchScimGroupRoute = (context: Context) =>
  handleScim(patchScimGroup)(async (input) => {
    const { id } = input.params;
    const changed = await changeGroup(context, id, (before) => patchGroup(before, input.body), requestOf(input));
    return answerChanged(await groupAnswers(context, changed, input.query));
  });
