import { AppError } from '@countersign/contracts';
import { getModel, listModels } from '@countersign/contracts/governance-kernel';
import type { ModelUpstream } from '../../doors/chat/model-upstream.ts';
import { handleTenant } from '../../handle.ts';

type ModelsDeps = {
  /** `null` when no model server is configured. */
  modelList: ModelUpstream['listModels'] | null;
};

/** The models of the server. Whether a caller may use a model is decided at the call. */
export const listModelsRoute = (deps: ModelsDeps) =>
  handleTenant(listModels)(async () => ({ object: 'list' as const, data: await modelsOf(deps) }));

/** Read from the list, since few OpenAI-compatible servers support the route for one model. */
export const getModelRoute = (deps: ModelsDeps) =>
  handleTenant(getModel)(async ({ params }) => {
    const model = (await modelsOf(deps)).find(({ id }) => id === params.model);
    if (model === undefined) throw new AppError('NOT_FOUND', 'The model server has no model with this id');
    return model;
  });

async function modelsOf({ modelList }: ModelsDeps) {
  if (modelList === null)
    throw new AppError('UPSTREAM_NOT_CONFIGURED', 'This kernel has no model server. Ask its operator to configure one');
  return (await modelList()).map((model) => ({ ...model, object: 'model' as const }));
}
