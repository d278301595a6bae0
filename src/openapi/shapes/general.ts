export { success } from "#documents/success";
