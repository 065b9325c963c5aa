import { AppError } from '@countersign/contracts';
import { getModel, listModels } from '@countersign/contracts/governance-kernel';
import type { ModelUpstream } from '../chat/model-upstream.ts';
import { handleTenant } from '../handle.ts';

type ModelsParts = {
  /** Null: no model server is configured. */
  modelList: ModelUpstream['listModels'] | null;
};

/** The models of the server. Whether a caller may use a model is decided when it does. */
export const listModelsRoute = (parts: ModelsParts) =>
  handleTenant(listModels)(async () => ({ object: 'list' as const, data: await modelsOf(parts) }));

/** Found in the list, since few servers that speak OpenAI's protocol answer for one model. */
export const getModelRoute = (parts: ModelsParts) =>
  handleTenant(getModel)(async ({ params }) => {
    const model = (await modelsOf(parts)).find(({ id }) => id === params.model);
    if (model === undefined) throw new AppError('NOT_FOUND', 'The model server has no model with this id');
    return model;
  });

async function modelsOf({ modelList }: ModelsParts) {
  if (modelList === null) throw new AppError('UPSTREAM_NOT_CONFIGURED', 'No model server is configured');
  return (await modelList()).map((model) => ({ ...model, object: 'model' as const }));
}
