// The style sheet loads with the page, not with the console.
import '../commercial/commercial.css';

export { BillingPage } from './billing-page.tsx';
