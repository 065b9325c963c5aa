import { putScimGroup } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { changeGroup } from '../../provisioning/change-group.ts';
import { answerChanged, groupAnswers } from '../../provisioning/resource-answers.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';
import { parseGroup } from '../../scim/parse-resource.ts';

export const putScimGroupRoute = (context: Context) =>
  handleScim(putScimGroup)(async (input) => {
    const { id } = input.params;
    const changed = await changeGroup(context, id, () => parseGroup(input.body), requestOf(input));
    return answerChanged(await groupAnswers(context, changed, input.query));
  });
