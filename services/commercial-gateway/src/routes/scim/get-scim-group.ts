import { AppError } from '@countersign/contracts';
import { getScimGroup } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { answerRead, groupAnswers } from '../../provisioning/resource-answers.ts';
import { findScimGroup } from '../../store/scim-groups.ts';

export const getScimGroupRoute = (context: Context) =>
  handleScim(getScimGroup)(async ({ params: { id }, query, caller: { orgId }, req }) => {
    const found = await findScimGroup(context.database.reader, { orgId, id });
    if (found === null) throw new AppError('NOT_FOUND', 'The organisation has no group with this id.');
    return answerRead(await groupAnswers(context, found, query), req.headers['if-none-match']);
  });
