// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_HEADER_EXAMPLES_HPP
#define KASTOR_TESTS_IO_HEADER_EXAMPLES_HPP

#include <sstream>
#include <string>
#include <vector>

namespace testing_support {

/// Cards of words as in CTYPE1='RA---SIN'.
inline std::vector<std::string> cards_of(const std::string& text) {
  std::vector<std::string> cards;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    std::string card = word.substr(0, equals);
    card.resize(8, ' ');
    card += "= " + word.substr(equals + 1);
    card.resize(80, ' ');
    cards.push_back(card);
  }
  return cards;
}

/// The beginning of a header: gnomonic or another projection at (210.5, 30), pixel (100, 80) of
/// FITS.
inline std::string at_reference(const std::string& code) {
  return "CTYPE1='RA---" + code + "' CTYPE2='DEC--" + code +
         "' CRVAL1=210.5 CRVAL2=30.0 CRPIX1=100.0 CRPIX2=80.0 ";
}

inline const std::string k_cd = "CD1_1=-0.008 CD1_2=0.003 CD2_1=0.002 CD2_2=0.01 ";
/// A polynomial with terms of second and third degree, and radial ones.
inline const std::string k_polynomial =
    "PV1_0=0.01 PV1_1=1.02 PV1_2=0.03 PV1_3=0.005 PV1_4=0.02 PV1_5=-0.015 PV1_6=0.01 PV1_8=0.004 "
    "PV2_0=-0.02 PV2_1=0.98 PV2_2=0.01 PV2_3=-0.004 PV2_4=0.012 PV2_5=0.018 PV2_6=-0.02 "
    "PV2_10=0.003 PV2_11=0.002 ";

struct HeaderExample {
  const char* name;
  std::string cards;  // for cards_of()
};

/// Headers of telescopes and programs in forms that not every reader takes.
inline std::vector<HeaderExample> header_examples() {
  const std::string tan = at_reference("TAN");
  const std::string scale = "CDELT1=-0.01 CDELT2=0.01 ";
  const std::string latitude_first =
      "CTYPE1='DEC--TPV' CTYPE2='RA---TPV' CRVAL1=30.0 CRVAL2=210.5 CRPIX1=100.0 CRPIX2=80.0 "
      "CD1_1=0.002 CD1_2=0.01 CD2_1=-0.008 CD2_2=0.003 PV2_0=0.01 PV2_4=0.02 PV2_5=0.01 PV1_1=0.98 "
      "PV1_2=0.02 PV1_4=0.03 PV1_6=-0.01 ";
  return {
      {"plain", tan + scale},
      {"exponents",
       "CTYPE1='RA---TAN' CTYPE2='DEC--TAN' CRVAL1=2.105D+02 CRVAL2=3.0d1 CRPIX1=1.0D2 CRPIX2=8D1 "
       "CDELT1=-1.D-2 CDELT2=.1D-1 CROTA2=3.0D1 LONPOLE=1.8D2 EQUINOX=2.0D3"},
      {"old_pc",
       tan + "CDELT1=0.01 CDELT2=0.01 PC001001=-1. PC001002=0.1 PC002001=0.0 PC002002=1."},
      {"old_cd", tan + "CD001001=-0.008 CD001002=0.003 CD002001=0.002 CD002002=0.01"},
      {"longpole", tan + scale + "LONGPOLE=150.0"},
      {"projp", at_reference("AZP") + scale + "PROJP1=2.0 PROJP2=30.0"},
      {"scamp", tan + k_cd + k_polynomial},
      {"scamp_rotated", tan + scale + "CROTA2=25.0 " + k_polynomial},
      {"tpv", at_reference("TPV") + k_cd + k_polynomial},
      {"tpv_pc", at_reference("TPV") +
                     "CDELT1=-0.01 CDELT2=0.02 PC1_1=0.8 PC1_2=-0.6 PC2_1=0.6 PC2_2=0.8 " +
                     k_polynomial},
      {"tpv_defaults", at_reference("TPV") + k_cd + "PV1_4=0.02 PV2_6=0.01"},
      {"tpv_latitude_first", latitude_first},
      {"tan_parameters", tan + scale + "PV2_1=0.3 PV2_2=5.0"},
      {"sip_without_type", tan + k_cd + "A_ORDER=2 B_ORDER=2 A_2_0=1e-4 B_0_2=1e-4"},
      {"sip", at_reference("TAN-SIP") + k_cd + "A_ORDER=2 B_ORDER=2 A_2_0=1D-4 B_0_2=-5d-5"},
      {"sip_and_scamp",
       at_reference("TAN-SIP") + k_cd + k_polynomial + "A_ORDER=2 B_ORDER=2 A_2_0=1e-4 B_0_2=1e-4"},
      {"gls", at_reference("GLS") + scale + "EPOCH=1950.0 RADECSYS='FK4'"},
      {"ncp", at_reference("NCP") + scale + "CROTA2=10.0"},
      {"car",
       "CTYPE1='GLON-CAR' CTYPE2='GLAT-CAR' CRVAL1=30.0 CRVAL2=0.0 CRPIX1=100.0 CRPIX2=80.0 " +
           scale},
      {"two_descriptions", tan + k_cd +
                               "CTYPE1A='RA---TAN' CTYPE2A='DEC--TAN' CRVAL1A=1D1 CRVAL2A=2D1 "
                               "CRPIX1A=1.0 CRPIX2A=1.0 CDELT1A=-0.1 CDELT2A=0.1 PV1_1A=1.0 "
                               "PV2_1A=1.0 PV1_7A=0.1"},
  };
}

}  // namespace testing_support

#endif
