// The scripted model of the test kit, in its own process.
import { startScriptedModel } from '@countersign/testkit/scripted-model';
import { forgetOften } from './forget-often.ts';

const model = await startScriptedModel();
forgetOften(model.requests);
process.once('disconnect', () => process.exit());
process.send?.({ url: model.url });
