// SPDX-License-Identifier: Apache-2.0
// Stand-ins for the functions of libcurl that CFITSIO calls to open a URL, which Kastor never does.
// With them the command is linked to CFITSIO's archive and starts without libcurl and the libraries
// that libcurl needs. In the command alone: a program that links kastor::io may use libcurl.
extern "C" {

/// CURLE_FAILED_INIT.
constexpr int failed = 2;

void* curl_easy_init() { return nullptr; }
void curl_easy_cleanup(void* /*handle*/) {}
int curl_easy_perform(void* /*handle*/) { return failed; }
int curl_easy_setopt(void* /*handle*/, int /*option*/, ...) { return failed; }
int curl_global_init(long /*flags*/) { return 0; }
void curl_global_cleanup() {}

}  // extern "C"
