import { deleteScimGroup } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { deleteGroup } from '../../provisioning/change-group.ts';
import { requestOf } from '../../provisioning/scim-caller.ts';

export const deleteScimGroupRoute = (context: Context) =>
  handleScim(deleteScimGroup)(async (input) => {
    await deleteGroup(context, input.params.id, requestOf(input));
    return undefined;
  });
