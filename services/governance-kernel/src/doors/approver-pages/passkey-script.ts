/**
 * The script of the approval pages. It requests a passkey from the browser and sends the answer back. It only uses the
 * data of the form, and decides nothing.
 */
export const passkeyScript = `'use strict';
const say = (text) => { document.querySelector('#passkey-notice').textContent = text; };
const send = async (form, step, members) => {
  const { csrf_token: token, ceremony_hash: hash } = form.elements;
  const body = { csrf_token: token.value, ...(hash ? { ceremony_hash: hash.value } : {}), ...members };
  const answer = await fetch(form.dataset.passkey + '/' + step, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
};
const ceremonies = {
  async decide(form, decision) {
    const reason = form.elements.reason.value;
    const { challenge_id, options } = await send(form, 'challenge', { decision, reason });
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = await navigator.credentials.get({ publicKey });
    await send(form, 'assert', { challenge_id, assertion: credential.toJSON(), reason });
  },
  async vouch(form) {
    const named = { principal_id: form.elements.principal_id.value, credential_id: form.elements.credential_id.value };
    const { options } = await send(form, 'challenge', named);
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    const credential = await navigator.credentials.get({ publicKey });
    await send(form, 'assert', { ...named, assertion: credential.toJSON() });
  },
  async enrol(form) {
    const { options } = await send(form, 'register', {});
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const credential = await navigator.credentials.create({ publicKey });
    await send(form, 'verify', { attestation: credential.toJSON() });
  },
};
for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    for (const button of form.querySelectorAll('button')) button.disabled = true;
    try {
      await ceremonies[form.dataset.ceremony](form, event.submitter.value);
      location.reload();
    } catch (error) {
      say('Nothing was decided. ' + error.message);
      for (const button of form.querySelectorAll('button')) button.disabled = false;
    }
  });
}
`;
